// Notices that files have changed, by looking at them now and then. Looking is enough for what an
// operator edits, and sees what notifications miss: a file that an editor put in the place of the
// old one, a link that now points elsewhere, a file system of another machine. It reads no content.

import { statSync } from 'node:fs';

export type FileWatch = {
  /**
   * Whether what is there is not what was settled on, and has stayed the same since the look before:
   * a file that is still being written waits. Settles on it, so that it is told once.
   */
  readonly hasChanged: () => boolean;
  /** Takes the files as they are now for known; call it right before they are read. */
  readonly settle: () => void;
};

/** A path may lead nowhere; that it does, or no longer does, is a change too. */
export function createFileWatch(paths: readonly string[]): FileWatch {
  let last = look(paths);
  let settled = last;
  return {
    hasChanged() {
      const now = look(paths);
      const rests = now === last;
      last = now;
      if (!rests || now === settled) return false;
      settled = now;
      return true;
    },
    settle() {
      last = look(paths);
      settled = last;
    },
  };
}

/** What tells one state of the files from another; links are followed. */
function look(paths: readonly string[]): string {
  return paths.map(stateOf).join(' ');
}

function stateOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return 'missing';
    const { dev, ino, size, mtimeNs, ctimeNs } = stat;
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}
