import type { KeyChecker, KeyVerdict, Provider } from '@lodge/ports';
import { defaultLimits } from '../call/call-limits.ts';
import { isKey, keyHeader } from './provider-key.ts';
import { createOutbound } from '@lodge/egress';
import { wires } from '../wires/index.ts';

export interface KeyCheckerOptions {
  readonly providers: readonly Provider[];
  readonly egressProxy?: string | null;
}

const checkMs = 10_000;
const maxReplyBytes = 64 * 1024;

/**
 * Asks providers whether keys work, by a request that costs nothing. A provider's answer is read only as far as its status,
 * because its text may repeat the key.
 */
export function createKeyChecker(options: KeyCheckerOptions): KeyChecker & { close(): Promise<void> } {
  const upstream = createOutbound(defaultLimits.connectMs, options.egressProxy ?? null);
  const providers = new Map(options.providers.map((provider) => [provider.id, provider]));
  return {
    async check(id, apiKey) {
      const provider = providers.get(id);
      const key = apiKey.trim();
      if (!provider) return { works: false, message: 'This deployment does not have this provider any more.' };
      const { name, keyCheck: check } = provider;
      if (!isKey(key)) return { works: false, message: `The key has characters that no key of ${name} has.` };
      if (!check) return { works: null, message: `${name} has no way to check a key but to use it.` };
      try {
        const { statusCode, body } = await upstream.send(provider, {
          method: 'GET',
          url: check.url,
          headers: {
            accept: 'application/json',
            'user-agent': 'lodge',
            ...wires.find(({ api }) => api === provider.api)!.defaultHeaders,
            ...provider.headers,
            ...keyHeader(check.keyHeader, key),
          },
          signal: AbortSignal.timeout(checkMs),
        });
        await body.dump({ limit: maxReplyBytes }).catch(() => {});
        return verdict(name, statusCode);
      } catch {
        return { works: null, message: `${name} could not be reached, so it is not known whether the key works.` };
      }
    },
    close: () => upstream.close(),
  };
}

/** Google and xAI answer a key they do not know with 400; there is nothing else in the request that could be wrong. */
function verdict(name: string, status: number): KeyVerdict {
  if (status >= 200 && status < 300) return { works: true, message: `The key works: ${name} accepts it.` };
  if (status === 402) return { works: true, message: `${name} knows the key, but its account has no credit left.` };
  if (status === 400 || status === 401) return { works: false, message: `${name} does not accept the key.` };
  if (status === 403) {
    return {
      works: null,
      message: `${name} does not let this key list anything; whether it may call models is not known.`,
    };
  }
  if (status === 429) {
    return { works: null, message: `${name} takes no more requests at the moment, so the key was not checked.` };
  }
  return { works: null, message: `${name} answered with status ${status}, so it is not known whether the key works.` };
}
