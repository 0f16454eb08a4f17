# SPDX-License-Identifier: GPL-3.0-or-later
"""A certification authority for servers and clients of a test, and servers that ask for passwords and certificates."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)


def pem(key, password=None):
    """A private key in PKCS #8."""
    how = serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how).decode()


class Authority:
    """Issues certificates into a folder: NAME.pem, NAME.key, and NAME.both.pem with key and certificate."""

    def __init__(self, folder, name="Authority of the tests"):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.timezone.utc)
        certificate = self._builder(self.name, self.key, now - DAY, now + 365 * DAY).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True).sign(self.key, hashes.SHA256())
        self.ca_file = folder / "ca.pem"
        self.ca_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def _builder(self, subject, key, begin, end):
        return (x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
                .serial_number(x509.random_serial_number()).not_valid_before(begin).not_valid_after(end))

    def issue(self, name, hosts=(), expired=False, password=None):
        """A certificate for a name, and as a server for hosts. Returns the path of NAME.pem."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(datetime.timezone.utc)
        begin, end = (now - 30 * DAY, now - DAY) if expired else (now - DAY, now + 365 * DAY)
        usage = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
        builder = self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key, begin, end)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName([self._alternative(host) for host in hosts]), False)
        certificate = builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
        for suffix, text in ((".pem", certificate), (".key", pem(key, password)), (".both.pem", pem(key) + certificate)):
            path = self.folder / (name + suffix)
            path.write_text(text)
            path.chmod(0o600)
        return self.folder / f"{name}.pem"

    @staticmethod
    def _alternative(host):
        try:
            return x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            return x509.DNSName(host)


def listener(authority, name, protocol, **more):
    """Settings of a listener of Kafka (private_servers.Kafka) that shows the certificate of that name."""
    return {"protocol": protocol, "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(authority.folder / f"{name}.both.pem"), "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(authority.ca_file), "ssl.client.auth": "none",
            **{key.replace("_", "."): value for key, value in more.items()}}


SCRAM = {"sasl.enabled.mechanisms": "SCRAM-SHA-256",
         "scram-sha-256.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;"}
