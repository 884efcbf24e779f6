package io.holdfast.lock.architecture;

import java.nio.file.Path;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;

/**
 * The classes of this module's main code. Of a library's classes, only the names are
 * known: reading them would take twice as long as all rules.
 */
final class MainClasses {

	static final JavaClasses ALL = ArchConfiguration.withThreadLocalScope((configuration) -> {
		configuration.setResolveMissingDependenciesFromClassPath(false);
		return new ClassFileImporter().importPath(Path.of("target", "classes"));
	});

	private MainClasses() {
	}

}
