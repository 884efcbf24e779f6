package io.holdfast.lock.interceptor;

import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A class compiled without {@code -parameters}.
 */
final class WithoutParameterNames {

	private static final String SOURCE = """
			public class Forgetful {
				@io.holdfast.lock.DistributedLock(name = "stock", key = "#id")
				public void call(long id) {
				}
			}
			""";

	private WithoutParameterNames() {
	}

	static Class<?> compile() throws Exception {
		Path folder = Files.createTempDirectory("forgetful");
		folder.toFile().deleteOnExit();
		// deleted before the folder, which must be empty
		folder.resolve("Forgetful.class").toFile().deleteOnExit();
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		JavaFileObject file = new SimpleJavaFileObject(URI.create("string:///Forgetful.java"),
				JavaFileObject.Kind.SOURCE) {
			@Override
			public CharSequence getCharContent(boolean ignoreEncodingErrors) {
				return SOURCE;
			}
		};
		Boolean compiled = compiler
			.getTask(null, null, null,
					List.of("-d", folder.toString(), "-proc:none", "-classpath",
							System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))),
					null, List.of(file))
			.call();
		assertThat(compiled).isTrue();
		try (URLClassLoader loader = new URLClassLoader(new URL[] { folder.toUri().toURL() },
				WithoutParameterNames.class.getClassLoader())) {
			return loader.loadClass("Forgetful");
		}
	}

}
