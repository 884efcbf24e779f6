-- The latest sale of the page at "/". There is one at a time, which "slot" makes sure of.
create table sale (
	id bigint generated always as identity primary key,
	slot smallint not null default 1 unique check (slot = 1),
	mode varchar(16) not null,
	store varchar(64) not null,
	buyers integer not null,
	stock integer not null,
	started_by varchar(64) not null,
	started_at timestamp with time zone not null default current_timestamp,
	-- the instances that took part, and those of them that still sell
	instances integer not null,
	active integer not null
);

-- What the buyers of the latest sale did. Every instance that shares the database shows it.
create table sale_event (
	id bigint generated always as identity primary key,
	sale bigint not null,
	instance varchar(64) not null,
	buyer integer not null,
	step varchar(16) not null,
	stock integer,
	token varchar(32),
	detail varchar(1000)
);

create index sale_event_sale on sale_event (sale, id);
