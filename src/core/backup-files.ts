// The files of automatic backups: their names, which one is due, and which ones may be removed.
// A name has the time at which its copy began, so the ages are known in a folder that was moved, too.

export type BackupFile = {
  readonly name: string;
  /** When the copy began, in Unix milliseconds. */
  readonly atMs: number;
  /** False: the file is intact, but the audit found its books wrong, or could not read them. */
  readonly verified: boolean;
};

/** Ends the name of a copy that is being written or was interrupted. */
export const PARTIAL = '.partial';

/** Ends the name of an intact copy whose books the audit found wrong, or could not read. */
export const UNVERIFIED = '.unverified';

/** `tollgate-20261123T074100Z.db` of the database `tollgate.db`. */
export function backupName(stem: string, atMs: number): string {
  const time = new Date(atMs).toISOString().replace(/\.\d+|[-:]/g, '');
  return `${stem}-${time}.db`;
}

/** Finished backups of this database among the names of a folder, newest first. */
export function findBackups(names: readonly string[], stem: string): BackupFile[] {
  return names
    .flatMap((name) => readName(name, stem) ?? [])
    .sort((a, b) => b.atMs - a.atMs || Number(b.verified) - Number(a.verified));
}

/** What interrupted backups of this database have left, with SQLite's own files beside them. */
export function findRemains(names: readonly string[], stem: string): string[] {
  return names.filter((name) => {
    const end = name.indexOf(PARTIAL);
    return end !== -1 && readName(name.slice(0, end), stem)?.verified === true;
  });
}

/**
 * Whether a backup is due: none is verified, the newest one is as old as the interval, or it is
 * from the future, because the clock was set back.
 */
export function isDue(newestMs: number | undefined, nowMs: number, everyMs: number): boolean {
  return newestMs === undefined || nowMs - newestMs >= everyMs || newestMs > nowMs;
}

/** Whether a backup is of a database that was new at `beganMs`. Names have whole seconds. */
export function isSince({ atMs }: BackupFile, beganMs: number): boolean {
  return atMs > beganMs - 1_000;
}

/** The newest verified backup; one from the future, whose clock was ahead, only without any other. */
export function newestVerified(
  files: readonly BackupFile[],
  nowMs: number,
): BackupFile | undefined {
  return inOrder(files, nowMs).find(({ verified }) => verified);
}

/** Newest first, those from the future last: they are older than what was made since. */
function inOrder(files: readonly BackupFile[], nowMs: number): BackupFile[] {
  const future = files.filter(({ atMs }) => atMs > nowMs);
  return [...files.filter(({ atMs }) => atMs <= nowMs), ...future];
}

/**
 * The backups to remove: verified ones beyond `keep`, but never the one that was just made, whose
 * time is old where the clock was set back; and unverified ones but the newest, which thus never
 * take the room of verified ones.
 */
export function prunable(
  files: readonly BackupFile[],
  keep: number,
  made: string | undefined,
  nowMs: number,
): BackupFile[] {
  const [verified, unverified] = [true, false].map((wanted) =>
    inOrder(files, nowMs).filter((file) => file.verified === wanted),
  );
  const surplus = [...(verified ?? []).slice(keep), ...(unverified ?? []).slice(1)];
  return surplus.filter(({ name }) => name !== made && name !== `${made}${UNVERIFIED}`);
}

function readName(name: string, stem: string): BackupFile | undefined {
  if (!name.startsWith(`${stem}-`)) return undefined;
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db(\.unverified)?$/.exec(
    name.slice(stem.length + 1),
  );
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, unverified] = match;
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(atMs) ? undefined : { name, atMs, verified: unverified === undefined };
}
