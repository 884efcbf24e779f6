-- io/holdfast/lock/fencing/schema.sql of Holdfast, as a migration of ours
create table holdfast_fence (
	lock_id varchar(64) not null primary key,
	lock_name varchar(255) not null,
	token bigint not null,
	owner varchar(36) not null
);
