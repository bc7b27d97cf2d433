// The addresses of a server, as its settings say them.

import type { Config } from './settings.ts';

/** The address that users are shown. `port` is the one that the server really listens on. */
export function publicUrl(config: Config, port: number): string {
  if (config.baseUrl !== undefined) return config.baseUrl;
  const open = config.host === '0.0.0.0' || config.host === '::';
  return httpUrl(open ? 'localhost' : config.host, port);
}

/** The URL of a host and a port; an IPv6 address gets its brackets. */
export function httpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
/** Where the console listens: 0 is any free port, `undefined` is nowhere. */
export function consolePortOf({
  port,
  operatorPort,
}: Pick<Config, 'port' | 'operatorPort'>): number | undefined {
  if (operatorPort === 'off') return undefined;
  if (operatorPort !== undefined) return operatorPort;
  return port === 0 || port === 65_535 ? 0 : port + 1;
}

/** The console's address in a browser on this machine. */
export function urlOf(host: string, port: number): string {
  const open = host === '0.0.0.0' || host === '::';
  return `${httpUrl(open ? 'localhost' : host, port)}/operator`;
}
