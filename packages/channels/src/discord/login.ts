import type { DiscordSession } from './places.ts';
import { DiscordError } from './rest.ts';
import type { DiscordApi, DiscordRest } from './rest.ts';

const maxWaitMs = 24 * 60 * 60_000;

/** Where to open a socket: where the session lives, else where Discord says. Rejects with a `DiscordError`. */
export async function gatewayOf(
  rest: DiscordRest,
  api: DiscordApi,
  session: DiscordSession | null,
  signal: AbortSignal,
): Promise<string> {
  if (session && isGatewayUrl(session.resumeUrl, api)) return withVersion(session.resumeUrl);
  const answer = (await rest.call('GET', '/gateway/bot', signal)) as Readonly<Record<string, unknown>> | null;
  const { url, session_start_limit: limit } = answer ?? {};
  const { remaining, reset_after: resetAfterMs } = (limit ?? {}) as Readonly<Record<string, unknown>>;
  // A thousand logins a day; more of them reset the token.
  if (typeof remaining === 'number' && remaining < 1) {
    throw new DiscordError('limited', { retryAfterMs: Math.min(maxWaitMs, Number(resetAfterMs) || 60_000) });
  }
  if (typeof url !== 'string' || !isGatewayUrl(url, api)) throw new DiscordError('unclear');
  return withVersion(url);
}

function withVersion(url: string): string {
  const full = new URL(url);
  full.search = '?v=10&encoding=json';
  return full.href;
}

/** At Discord's hosts over TLS, or at the very host that the operator gave for the REST API. */
function isGatewayUrl(url: string, { apiUrl }: DiscordApi): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host, hostname } = new URL(url);
  const api = new URL(apiUrl);
  if (host === api.host) return protocol === api.protocol.replace('http', 'ws');
  return protocol === 'wss:' && (hostname.endsWith('.discord.gg') || hostname.endsWith('.discord.com'));
}
