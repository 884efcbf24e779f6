package io.holdfast.lock.fencing;

class InMemoryFencingGuardTests implements FencingGuardContract {

	@Override
	public FencingGuard guard() {
		return new InMemoryFencingGuard();
	}

}
