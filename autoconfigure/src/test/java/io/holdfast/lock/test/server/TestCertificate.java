package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLContext;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

/**
 * A self-signed certificate for {@value ServerProcess#HOST}, created for one test.
 *
 * @param certificate the certificate file in PEM format
 * @param key the private key file in PEM format
 */
record TestCertificate(Path certificate, Path key) {

	static TestCertificate createIn(Path directory) {
		Path certificate = directory.resolve("server.crt");
		Path key = directory.resolve("server.key");
		Path log = directory.resolve("openssl.log");
		try {
			Process openssl = new ProcessBuilder("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
					"ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=holdfast test", "-addext",
					"subjectAltName=IP:" + ServerProcess.HOST + ",DNS:localhost", "-keyout", key.toString(), "-out",
					certificate.toString())
				.redirectErrorStream(true)
				.redirectOutput(log.toFile())
				.start();
			if (!openssl.waitFor(30, TimeUnit.SECONDS) || openssl.exitValue() != 0) {
				throw new IllegalStateException("openssl made no certificate; see " + log);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(
					"openssl is needed for a test with TLS: apt-get install --no-install-recommends openssl", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		return new TestCertificate(certificate, key);
	}

	/**
	 * Returns a context for clients that trust this certificate only.
	 * @return the context
	 */
	SSLContext trusted() {
		PemSslStoreBundle stores = new PemSslStoreBundle(null,
				PemSslStoreDetails.forCertificate(this.certificate.toUri().toString()));
		return SslBundle.of(stores).createSslContext();
	}

}
