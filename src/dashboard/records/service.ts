// The operator's service as the pages show it. Each HTML page contains it as JSON.

import type { serviceRecord } from '../edge/service-files.ts';

export type ServiceRecord = ReturnType<typeof serviceRecord>;
