package io.holdfast.lock.backend.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.Answers;
import org.mockito.ArgumentCaptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

/**
 * Tests for a channel that stays forbidden while connections come and go.
 */
class LettuceResubscriptionTests {

	private final StatefulRedisPubSubConnection<String, String> connection = mock(Answers.RETURNS_DEEP_STUBS);

	private final Timer timer = this.connection.getResources().timer();

	private final LettuceResubscription resubscription = new LettuceResubscription(this.connection, "news",
			() -> false);

	private int attempts;

	@BeforeEach
	void forbidTheChannel() {
		given(this.connection.async().subscribe("news")).willAnswer((call) -> {
			this.attempts++;
			AsyncCommand<String, String, Void> answer = new AsyncCommand<>(new Command<>(CommandType.SUBSCRIBE, null));
			answer.completeExceptionally(new RedisCommandExecutionException("NOPERM no permission for a channel"));
			return answer;
		});
	}

	private TimerTask next() {
		ArgumentCaptor<TimerTask> task = ArgumentCaptor.captor();
		then(this.timer).should().newTimeout(task.capture(), anyLong(), any());
		return task.getValue();
	}

	/** Each of them would otherwise begin further attempts. */
	@Test
	void newConnectionsDoNotAddAttempts() {
		for (int i = 0; i < 3; i++) {
			this.resubscription.onRedisConnected(null, null);
		}
		assertThat(this.attempts).isOne();
		next();
	}

	@Test
	void attemptThatThrowsIsFollowedByAnother() {
		given(this.connection.async().subscribe("news")).willThrow(new IllegalStateException("no buffer"));
		this.resubscription.onRedisConnected(null, null);
		assertThat(next()).isNotNull();
	}

	@Test
	void endEndsTheAttempts() throws Exception {
		this.resubscription.onRedisConnected(null, null);
		this.resubscription.end();
		next().run(null);
		assertThat(this.attempts).isOne();
	}

}
