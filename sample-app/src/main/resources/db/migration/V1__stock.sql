create table product (
	id bigint primary key,
	stock integer not null
);

-- Every order that was placed: what they sold, added up, must be what is missing from the stock.
create table stock_order (
	id bigint generated always as identity primary key,
	product bigint not null references product (id),
	quantity integer not null,
	remaining integer not null,
	token bigint,
	placed_at timestamp with time zone not null default current_timestamp
);

create index stock_order_product on stock_order (product);

insert into product (id, stock) values (42, 100);
