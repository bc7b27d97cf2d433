// The URLs of a server, derived from its settings.

import type { Config } from './settings.ts';

/** The public URL shown to users. `port` is the actual listening port. */
export function publicUrl(config: Config, port: number): string {
  if (config.baseUrl !== undefined) return config.baseUrl;
  const open = config.host === '0.0.0.0' || config.host === '::';
  return httpUrl(open ? 'localhost' : config.host, port);
}

/** Whether users reach the server by HTTPS. */
export function isHttps({ baseUrl }: Config): boolean {
  return baseUrl?.startsWith('https:') ?? false;
}

/** The URL of a host and a port, with brackets around an IPv6 address. */
export function httpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
/** The port of the console: 0 is any free port, `undefined` disables it. */
export function consolePortOf({
  port,
  operatorPort,
}: Pick<Config, 'port' | 'operatorPort'>): number | undefined {
  if (operatorPort === 'off') return undefined;
  if (operatorPort !== undefined) return operatorPort;
  return port === 0 || port === 65_535 ? 0 : port + 1;
}

/** The console's URL for a browser on this machine. */
export function urlOf(host: string, port: number): string {
  const open = host === '0.0.0.0' || host === '::';
  return `${httpUrl(open ? 'localhost' : host, port)}/operator`;
}
