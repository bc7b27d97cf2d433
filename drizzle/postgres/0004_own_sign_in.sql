-- Sessions and challenges of before end, because their digests had no key. Second factors of before cannot
-- be opened: their users sign in after a reset by the operator.
ALTER TABLE "sign_in_users" ADD COLUMN "password" text COLLATE "C";--> statement-breakpoint
UPDATE "sign_in_users" SET "password" = (SELECT "password" FROM "sign_in_credentials" WHERE "user_id" = "sign_in_users"."id" AND "provider" = 'credential');--> statement-breakpoint
ALTER TABLE "sign_in_users" DROP COLUMN "email_verified";--> statement-breakpoint
ALTER TABLE "sign_in_users" DROP COLUMN "updated_at";--> statement-breakpoint
DROP TABLE "sign_in_credentials";--> statement-breakpoint
DELETE FROM "sign_in_sessions";--> statement-breakpoint
ALTER TABLE "sign_in_sessions" DROP COLUMN "realm";--> statement-breakpoint
ALTER TABLE "sign_in_sessions" DROP COLUMN "updated_at";--> statement-breakpoint
DROP TABLE "sign_in_challenges";--> statement-breakpoint
CREATE TABLE "sign_in_challenges" (
	"digest" text COLLATE "C" PRIMARY KEY NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"attempts" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sign_in_challenges" ADD CONSTRAINT "sign_in_challenges_user_id_sign_in_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."sign_in_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sign_in_challenges_user" ON "sign_in_challenges" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sign_in_challenges_expiry" ON "sign_in_challenges" USING btree ("expires_at");--> statement-breakpoint
DROP TABLE "sign_in_second_factors";--> statement-breakpoint
CREATE TABLE "sign_in_second_factors" (
	"user_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"secret" "bytea" NOT NULL,
	"last_step" bigint NOT NULL,
	"recovery_codes" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sign_in_second_factors" ADD CONSTRAINT "sign_in_second_factors_user_id_sign_in_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."sign_in_users"("id") ON DELETE cascade ON UPDATE no action;
