CREATE TABLE "upstream_words" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"upstream" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"failure" text COLLATE "C" NOT NULL,
	"status" bigint,
	"words" text COLLATE "C" NOT NULL,
	"count" bigint NOT NULL,
	"first_at" bigint NOT NULL,
	"last_at" bigint NOT NULL,
	"requests" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE INDEX "upstream_words_place" ON "upstream_words" USING btree ("upstream","last_at");