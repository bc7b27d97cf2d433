// What an alert says to operators, and the page of the console about its cause.

import type { Alert, ArchiveFailure, BackupFailure, ModelAtUpstream } from './alert.ts';
import type { UsageDoubt } from './generation.ts';
import { type Sentence, say, wordsOf } from './sentence.ts';

const LEDGER_TROUBLES = {
  kept: {
    trouble: say('kept'),
    what: say('its end could not be written and will be retried; check the disk of the database'),
  },
  given_up: {
    trouble: say('given_up'),
    what: say('the ledger refused its end; run tollgate explain and tollgate doctor'),
  },
  refused: {
    trouble: say('refused'),
    what: say(
      'its money could not be written, so its client got 503, as others may; check the disk or the server of the database',
    ),
  },
};

/** One sentence in English, for logs and machines. */
export function alertWords(alert: Alert): string {
  return wordsOf(alertSentence(alert));
}

/** What happened and, unless obvious, what to do; with the page about the cause. */
export function alertSentence(alert: Alert): Sentence {
  return { ...sentenceOf(alert), about: causeOf(alert) };
}

/** Causes without a page of their own. */
export const BACKUPS = 'alerts#backups';
export const ARCHIVES = 'alerts#archives';
export const DATABASE = 'alerts#database';

/** The page of the console about the cause. */
function causeOf(alert: Alert): Sentence['about'] {
  switch (alert.kind) {
    case 'audit_difference':
    case 'audit_failed':
      return 'self-audit';
    case 'catalog_refused':
      return 'catalog';
    case 'backup_failed':
      return BACKUPS;
    case 'archive_failed':
      return ARCHIVES;
    case 'database_lost':
      return DATABASE;
    default:
      if ('upstream' in alert) return `upstreams/${alert.upstream}`;
      if ('accountId' in alert) return `accounts/${alert.accountId}`;
      return 'requestId' in alert ? `requests/${alert.requestId}` : undefined;
  }
}

function sentenceOf(alert: Alert): Sentence {
  switch (alert.kind) {
    case 'credential_refused':
      return credentialSentence(alert);
    case 'breaker_opened':
      return say('upstream {upstream} fails for {model}; its circuit breaker is open{said}', {
        ...placeOf(alert),
        said: quoted(alert.said),
      });
    case 'parameter_refused':
      return say(
        'upstream {upstream} refuses {parameter} for {model}, which its profile or the catalog sets{said}',
        { ...placeOf(alert), parameter: alert.parameter, said: quoted(alert.said) },
      );
    case 'usage_doubted':
      return say(
        'the usage that upstream {upstream} reported of {model} for {requestId} {charged}',
        { ...placeOf(alert), requestId: alert.requestId, charged: CHARGED[alert.doubt] },
      );
    case 'usage_missing':
      return say(
        'upstream {upstream} does not report the usage of most {how} answers of {model}; our own count is charged. Run tollgate upstream test, and compare a bill with tollgate reconcile',
        { ...placeOf(alert), how: alert.streamed ? say('streamed') : say('whole') },
      );
    case 'prompt_doubted':
      return say(
        'upstream {upstream} reports {ratio} times the prompt tokens that we count for {model}; check which model it serves, and compare a bill with tollgate reconcile',
        { ...placeOf(alert), ratio: alert.ratio },
      );
    case 'word_unknown':
      return say(
        'upstream {upstream} sends the unknown {what} "{word}" for {model}; compare its documentation with its profile',
        {
          ...placeOf(alert),
          what: alert.what,
          word: alert.word.replaceAll(/[^\x21-\x7e]|["\\]/g, '?'),
        },
      );
    case 'account_restricted':
      return say(
        'account {accountId} could not pay charges above the bound, the last of them {requestId}; its requests are now accepted only if the balance covers their worst case, until as much is credited',
        { accountId: alert.accountId, requestId: alert.requestId },
      );
    case 'key_runaway':
      return say(
        'key {keyId} of account {accountId} spent {spent} service tokens within ten minutes, where its habit allows {allowed}; it is paused until its owner resumes it',
        {
          keyId: alert.keyId,
          accountId: alert.accountId,
          spent: alert.spent,
          allowed: alert.allowed,
        },
      );
    case 'ledger_failing':
      return say('ledger: {trouble} {requestId}: {what}', {
        requestId: alert.requestId,
        ...LEDGER_TROUBLES[alert.trouble],
      });
    case 'database_lost':
      return say(
        'the database file is missing or was replaced: no new requests are served, and {requests} in progress and everything booked since {since} are lost unless that file is restored; stop the server, restore the file, and start the server again',
        {
          requests:
            alert.requests === 1
              ? say('1 request')
              : say('{count} requests', { count: String(alert.requests) }),
          since: new Date(alert.sinceMs).toISOString(),
        },
      );
    case 'ledger_stopped':
      return say('ledger: its thread crashed and is being restarted');
    case 'hold_lost':
      return say('ledger: the hold of {requestId} had no request any more and was released', {
        requestId: alert.requestId,
      });
    case 'audit_difference':
      return say('audit: the ledger is inconsistent in {places}; run tollgate doctor for details', {
        places:
          alert.count === 1
            ? say('1 place')
            : say('{count} places', { count: String(alert.count) }),
      });
    case 'audit_failed':
      return say('audit: the ledger could not be read; see the log for the cause');
    case 'catalog_refused':
      return say(
        'the changed catalog has {problems} and was rejected; the previous catalog stays active',
        {
          problems:
            alert.problems === 1
              ? say('1 problem')
              : say('{count} problems', { count: String(alert.problems) }),
        },
      );
    case 'backup_failed':
      return say('backup: {reason}', { reason: BACKUP_FAILURES[alert.reason] });
    case 'archive_failed':
      return say('archive: {reason}; the log has the names', {
        reason: ARCHIVE_FAILURES[alert.reason],
      });
    case 'internal_error':
      return say('internal error in {requestId}', { requestId: alert.requestId });
  }
}

function credentialSentence(alert: Extract<Alert, { kind: 'credential_refused' }>): Sentence {
  const { upstream, credential, reason, status } = alert;
  if (alert.some === true) {
    return say(
      'upstream {upstream} refuses some requests with our credential {credential} and accepts others; check the balance of its account, and run tollgate explain',
      { upstream, credential },
    );
  }
  if (reason !== undefined) {
    return say('upstream {upstream} cannot be used with credential {credential}: {reason}', {
      upstream,
      credential,
      reason,
    });
  }
  return say(
    'upstream {upstream} refuses our credential {credential} or its account (status {status}); check its api_key and balance{said}',
    {
      upstream,
      credential,
      status: status === undefined ? say('unknown') : String(status),
      said: quoted(alert.said),
    },
  );
}

function placeOf({ upstream, model }: ModelAtUpstream): ModelAtUpstream {
  return { upstream, model };
}

function quoted(said: string | undefined): string | Sentence {
  return said === undefined || said === '' ? '' : say('; it said "{said}"', { said });
}

/** Why an automatic backup was not made, or is not verified. */
const BACKUP_FAILURES: Readonly<Record<BackupFailure, Sentence>> = {
  folder: say('the folder of BACKUP_DIR cannot be used; check that this user may write it'),
  shared: say(
    'another server keeps the backups of its database in the folder of BACKUP_DIR; give each one its own',
  ),
  space: say(
    'the disk of BACKUP_DIR or of the database has too little space for another copy; free some, or set BACKUP_KEEP',
  ),
  damaged: say(
    'the copy was damaged and was removed; run tollgate doctor, because the database may be too',
  ),
  differences: say(
    'the audit found differences in the books of the copy, so it is kept as unverified; run tollgate doctor',
  ),
  unaudited: say(
    'the executable was replaced by a later version, which cannot audit these books, so the copy is kept as unverified; restart the server',
  ),
  failed: say('no backup was made; see the log for the cause'),
};

/**
 * Why old requests were not archived, or archived ones not removed. Without names: `/readyz` shows
 * it to everyone.
 */
export const ARCHIVE_FAILURES: Readonly<Record<ArchiveFailure, Sentence>> = {
  files: say('files of earlier archives are missing or were changed'),
  unproven: say('the rows of a month do not give the receipts of its account'),
  space: say('the disk of the archives has too little space left'),
  folder: say('the folder of the archives cannot be written'),
  failed: say('the run failed'),
};

/** How each kind of doubtful report was charged. */
const CHARGED: Readonly<Record<UsageDoubt, Sentence>> = {
  malformed: say('is malformed; our own count was charged instead'),
  inconsistent: say('is inconsistent; our own count was charged instead'),
  implausible: say(
    'is implausible; the larger of our own count and the bound of the request was charged; check context_window and max_output of the model',
  ),
  zero: say('is zero although there was something to count; it was charged as zero'),
  service_tier: say(
    'names a service tier that the price has no factor for; it was charged as the ordinary tier; add the tier to service_tiers of the price, or change extra_body of the upstream',
  ),
};
