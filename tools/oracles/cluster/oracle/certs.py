"""One authority, and certificates signed by it, made by openssl."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

CA_NAME = "kueue-ca"  # Kueue's rotation asks the authority for this name before it leaves it alone
DAYS = "3650"

AUTHORITY = """[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = oracle-ca
[extensions]
basicConstraints = critical, CA:true
keyUsage = critical, digitalSignature, keyEncipherment, keyCertSign, cRLSign
subjectAltName = DNS:{name}
"""

SIGNED = """[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
{name}
[extensions]
basicConstraints = critical, CA:false
extendedKeyUsage = clientAuth, serverAuth
{names}
"""


def openssl(*arguments: str) -> None:
    """Run openssl; stop with its words where it refuses."""
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {arguments[0]} failed; OpenSSL 3 is needed: {done.stderr.strip()}")


def rsa_key(path: Path) -> None:
    """Write an RSA key in PKCS1, the one form that Kueue's rotation reads."""
    openssl("genrsa", "-traditional", "-out", str(path), "2048")
    path.chmod(0o600)


def ec_key(path: Path) -> None:
    """Write an elliptic-curve key in PKCS8."""
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(path))
    path.chmod(0o600)


class Authority:
    """An authority of one cluster: its key, its certificate, and the certificates that it signs."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.cert_path, self.key_path = folder / "ca.crt", folder / "ca.key"
        config = folder / "ca.cnf"
        config.write_text(AUTHORITY.format(name=CA_NAME))
        rsa_key(self.key_path)
        self._certify(self.key_path, config, self.cert_path)
        self.pem = self.cert_path.read_bytes()

    def issue(self, stem: Path, common: str, groups: Iterable[str] = (), dns: Iterable[str] = ()) -> tuple[Path, Path]:
        """Write a key and a certificate of a user or, with names, of a server on loopback; return both paths."""
        stem.parent.mkdir(parents=True, exist_ok=True)
        certificate, key, config = (Path(f"{stem}.{suffix}") for suffix in ("crt", "key", "cnf"))
        organisations = [f"{index}.O = {group}" for index, group in enumerate(groups)]
        hosts = ", ".join([*(f"DNS:{name}" for name in dns), "IP:127.0.0.1"]) if dns else ""
        config.write_text(
            SIGNED.format(
                name="\n".join([*organisations, f"CN = {common[:64]}"]),
                names=f"subjectAltName = {hosts}" if hosts else "",
            )
        )
        ec_key(key)
        self._certify(key, config, certificate, "-CA", str(self.cert_path), "-CAkey", str(self.key_path))
        return certificate, key

    @staticmethod
    def _certify(key: Path, config: Path, certificate: Path, *signer: str) -> None:
        openssl(
            *("req", "-x509", "-new", "-sha256", "-days", DAYS, "-key", str(key)),
            *("-config", str(config), "-out", str(certificate), *signer),
        )
