// Preloaded into a backup: it copies, and never comes to give the copy its name.

import { mock } from 'bun:test';
import * as fs from 'node:fs';

const all = { ...fs };

mock.module('node:fs', () => ({
  ...all,
  linkSync: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
}));
