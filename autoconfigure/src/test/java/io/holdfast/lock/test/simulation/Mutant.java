package io.holdfast.lock.test.simulation;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * A variant of the library with some methods replaced, to show that a simulation detects
 * the defect. A separate class loader changes the classes while loading them, so
 * production code needs no switches.
 *
 * <p>
 * A method is identified by its class name, without {@code io.holdfast.lock.}, and its
 * own name, such as {@code engine.Lease#keepsLock}. All overloads of that name are
 * replaced.
 */
public final class Mutant {

	private static final String ROOT = "io.holdfast.lock.";

	private final Map<String, Replacement> replacements = new LinkedHashMap<>();

	private long likely = 1;

	/**
	 * Replaces a method with another method of the same class.
	 * @param method the method, such as {@code engine.Lease#keepsLock}
	 * @param other the name of a method with the same parameters and return type
	 * @return this mutant
	 */
	public Mutant replace(String method, String other) {
		this.replacements.put(ROOT + method, (type, code) -> {
			code.loadArguments();
			code.visitor.visitMethodInsn(Opcodes.INVOKEVIRTUAL, type, other, code.descriptor, false);
			code.visitor.visitInsn(Type.getReturnType(code.descriptor).getOpcode(Opcodes.IRETURN));
		});
		return this;
	}

	/**
	 * Replaces a method with a static method of a test. The first parameter of the static
	 * method is the object, followed by the parameters of the replaced method.
	 * @param method the method, which must not be static
	 * @param test the class of the static method, in the same package
	 * @param other the name of the static method
	 * @return this mutant
	 */
	public Mutant replace(String method, Class<?> test, String other) {
		this.replacements.put(ROOT + method, (type, code) -> {
			Type result = Type.getReturnType(code.descriptor);
			code.loadArguments();
			code.visitor.visitMethodInsn(Opcodes.INVOKESTATIC, Type.getInternalName(test), other,
					code.descriptor.replace("(", "(L" + type + ";"), false);
			code.visitor.visitInsn(result.getOpcode(Opcodes.IRETURN));
		});
		return this;
	}

	/**
	 * Replaces a method of return type {@code void} with an empty one.
	 * @param method the method
	 * @return this mutant
	 */
	public Mutant skip(String method) {
		this.replacements.put(ROOT + method, (type, code) -> code.visitor.visitInsn(Opcodes.RETURN));
		return this;
	}

	/**
	 * Replaces a method with one that only returns a future completed with {@code null}.
	 * @param method the method
	 * @return this mutant
	 */
	public Mutant complete(String method) {
		this.replacements.put(ROOT + method, (type, code) -> {
			code.visitor.visitInsn(Opcodes.ACONST_NULL);
			code.visitor.visitMethodInsn(Opcodes.INVOKESTATIC, "java/util/concurrent/CompletableFuture",
					"completedFuture", "(Ljava/lang/Object;)Ljava/util/concurrent/CompletableFuture;", false);
			code.visitor.visitInsn(Opcodes.ARETURN);
		});
		return this;
	}

	/**
	 * Replaces a method with one that always returns the same value.
	 * @param method the method
	 * @param answer the value
	 * @return this mutant
	 */
	public Mutant answer(String method, boolean answer) {
		this.replacements.put(ROOT + method, (type, code) -> {
			code.visitor.visitInsn(answer ? Opcodes.ICONST_1 : Opcodes.ICONST_0);
			code.visitor.visitInsn(Opcodes.IRETURN);
		});
		return this;
	}

	/**
	 * Sets the seed that is run first, because it has shown the defect before.
	 * @param seed the seed, which any change of the simulation may make useless
	 * @return this mutant
	 */
	public Mutant likelyAt(long seed) {
		this.likely = seed;
		return this;
	}

	/**
	 * Runs seeds of {@link Workload#MIXED} until one of them violates a check.
	 * @param store the store, which must have a constructor with a {@link Simulation}
	 * parameter
	 * @param count the number of seeds
	 * @param check the name of the check
	 * @return the first such seed, or 0 if there is none
	 */
	public long find(Class<? extends SimulatedStore> store, int count, String check) {
		return find(store, Workload.MIXED, count, check);
	}

	/**
	 * Runs seeds until one of them violates a check.
	 * @param store the store, which must have a constructor with a {@link Simulation}
	 * parameter
	 * @param workload what the processes do
	 * @param count the number of seeds
	 * @param check the name of the check
	 * @return the first such seed, or 0 if there is none
	 */
	public long find(Class<? extends SimulatedStore> store, Workload workload, int count, String check) {
		Loader loader = new Loader();
		try {
			Class<?> simulations = Class.forName(Simulations.class.getName(), true, loader);
			Object found = simulations
				.getMethod("find", String.class, String.class, long.class, int.class, String.class)
				.invoke(null, store.getName(), workload.name(), this.likely, count, check);
			loader.requireAllReplaced();
			return (Long) found;
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("The mutant could not be run", ex);
		}
	}

	/** Writes the new body of a method. */
	private interface Replacement {

		void write(String type, Code code);

	}

	/** The method being written. */
	private record Code(MethodVisitor visitor, int access, String descriptor) {

		void loadArguments() {
			int slot = 0;
			if ((this.access & Opcodes.ACC_STATIC) == 0) {
				this.visitor.visitVarInsn(Opcodes.ALOAD, slot++);
			}
			for (Type argument : Type.getArgumentTypes(this.descriptor)) {
				this.visitor.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), slot);
				slot += argument.getSize();
			}
		}

	}

	/** Reloads all classes of the library, including tests and stores. */
	private final class Loader extends ClassLoader {

		private final Set<String> replaced = new HashSet<>();

		Loader() {
			super(Mutant.class.getClassLoader());
		}

		void requireAllReplaced() {
			Set<String> missing = new HashSet<>(Mutant.this.replacements.keySet());
			missing.removeAll(this.replaced);
			if (!missing.isEmpty()) {
				throw new IllegalStateException("There are no such methods: " + missing);
			}
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.startsWith(ROOT)) {
				return super.loadClass(name, resolve);
			}
			synchronized (getClassLoadingLock(name)) {
				Class<?> loaded = findLoadedClass(name);
				return (loaded != null) ? loaded : define(name);
			}
		}

		private Class<?> define(String name) throws ClassNotFoundException {
			try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
				if (in == null) {
					throw new ClassNotFoundException(name);
				}
				byte[] bytes = isMutated(name) ? mutate(name, in) : in.readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			}
			catch (IOException ex) {
				throw new ClassNotFoundException(name, ex);
			}
		}

		private boolean isMutated(String name) {
			return Mutant.this.replacements.keySet().stream().anyMatch((method) -> method.startsWith(name + "#"));
		}

		private byte[] mutate(String name, InputStream in) throws IOException {
			ClassReader reader = new ClassReader(in);
			ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
			reader.accept(new Mutator(name, writer, this.replaced::add), 0);
			return writer.toByteArray();
		}

	}

	/** Replaces methods of one class. */
	private final class Mutator extends ClassVisitor {

		private final String type;

		private final Consumer<String> replaced;

		Mutator(String type, ClassVisitor next, Consumer<String> replaced) {
			super(SpringAsmInfo.ASM_VERSION, next);
			this.type = type;
			this.replaced = replaced;
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor,
				@Nullable String signature, String @Nullable [] exceptions) {
			MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
			Replacement replacement = Mutant.this.replacements.get(this.type + "#" + name);
			if (replacement == null) {
				return next;
			}
			this.replaced.accept(this.type + "#" + name);
			next.visitCode();
			replacement.write(this.type.replace('.', '/'), new Code(next, access, descriptor));
			next.visitMaxs(0, 0);
			next.visitEnd();
			return null;
		}

	}

}
