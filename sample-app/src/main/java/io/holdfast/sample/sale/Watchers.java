package io.holdfast.sample.sale;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;

import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter.DataWithMediaType;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * The browsers that watch the sale. A browser that has left is removed at the next
 * message.
 */
@Component
class Watchers {

	private static final int MOST = 32;

	private final List<SseEmitter> all = new CopyOnWriteArrayList<>();

	private final Semaphore free = new Semaphore(MOST);

	private volatile boolean closed;

	/** Returns a stream for one browser. It receives nothing before it is added. */
	SseEmitter open() {
		if (this.closed || !this.free.tryAcquire()) {
			throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE,
					"%s browsers watch the sale already. Close one of them.".formatted(MOST));
		}
		SseEmitter watcher = new SseEmitter(0L);
		watcher.onCompletion(() -> {
			this.all.remove(watcher);
			this.free.release();
		});
		return watcher;
	}

	void add(SseEmitter watcher, Object state) {
		this.all.add(watcher);
		send(watcher, message("state", state));
		if (this.closed) {
			watcher.complete();
		}
	}

	void send(String name, Object data) {
		Set<DataWithMediaType> message = message(name, data);
		this.all.forEach((watcher) -> send(watcher, message));
	}

	/** Sends a comment, which shows which browsers have left. */
	void ping() {
		this.all.forEach((watcher) -> send(watcher, SseEmitter.event().comment("").build()));
	}

	private static Set<DataWithMediaType> message(String name, Object data) {
		return SseEmitter.event().name(name).data(data, MediaType.APPLICATION_JSON).build();
	}

	private void send(SseEmitter watcher, Set<DataWithMediaType> message) {
		try {
			watcher.send(message);
		}
		catch (IOException | IllegalStateException ex) {
			this.all.remove(watcher); // the browser has left
		}
	}

	boolean isEmpty() {
		return this.all.isEmpty();
	}

	/** Ends all streams, because the web server waits for its responses when it stops. */
	void close() {
		this.closed = true;
		this.all.forEach(SseEmitter::complete);
	}

}
