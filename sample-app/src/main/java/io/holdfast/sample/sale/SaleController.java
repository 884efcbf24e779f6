package io.holdfast.sample.sale;

import java.util.List;

import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

import io.holdfast.sample.BadNumberException;

/**
 * REST endpoints of the page.
 */
@RestController
@RequestMapping("/sales")
class SaleController {

	private final Sales sales;

	private final Stores stores;

	private final SaleFeed feed;

	SaleController(Sales sales, Stores stores, SaleFeed feed) {
		this.sales = sales;
		this.stores = stores;
		this.feed = feed;
	}

	@GetMapping("/options")
	Options options() {
		return new Options(this.stores.names(), Sale.FEWEST_BUYERS, Sale.MOST_BUYERS);
	}

	@PostMapping
	@ResponseStatus(HttpStatus.ACCEPTED)
	Sale start(@RequestParam SaleMode mode, @RequestParam String store, @RequestParam int buyers) {
		BadNumberException.unlessBetween("buyers", buyers, Sale.FEWEST_BUYERS, Sale.MOST_BUYERS);
		return this.sales.start(mode, store, buyers);
	}

	@GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	SseEmitter events() {
		return this.feed.watch();
	}

	/**
	 * The options of the page.
	 *
	 * @param stores the names of the configured stores, with the default first
	 * @param fewestBuyers the smallest number of buyers
	 * @param mostBuyers the greatest number of buyers
	 */
	record Options(List<String> stores, int fewestBuyers, int mostBuyers) {
	}

}
