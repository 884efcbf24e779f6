package io.holdfast.sample;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.WhenNotAcquired;

/**
 * Logs the orders of the service once a day, however many instances run.
 */
@Component
class DailyReport {

	private static final Log logger = LogFactory.getLog(DailyReport.class);

	private final JdbcClient jdbc;

	DailyReport(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	// tag::job[]
	@Scheduled(cron = "0 0 2 * * *")
	@DistributedLock(name = "daily-report", whenNotAcquired = WhenNotAcquired.SKIP, minHold = "10m")
	public void write() {
		logger.info("Orders placed so far: " + orders());
	}
	// end::job[]

	private int orders() {
		return this.jdbc.sql("select count(*) from stock_order").query(Integer.class).single();
	}

}
