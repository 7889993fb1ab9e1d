import type { Duplex } from 'node:stream';
import type { BrowserState } from './protocol.ts';
import { browserAvailableFrom, browserStateFrom } from './shape.ts';
import type { CallOptions, Transport } from './transport.ts';

/** The browser of the guest. The daemon of an older image answers 404 (`isUnknownRoute`). */
export interface GuestBrowser {
  /** Offers the browser to the agent, or ends it and offers it no more. Says whether the machine's disk has one. */
  put(enabled: boolean, options?: CallOptions): Promise<{ readonly available: boolean }>;
  state(options?: CallOptions): Promise<BrowserState>;
  /** Lets the agent's calls wait for so long, or no longer with 0. 409 where no browser runs. */
  hold(seconds: number, options?: CallOptions): Promise<void>;
  /** Opens a connection to Chromium's own port for its protocol (HTTP and WebSocket). 409 where none runs and none is started. */
  openCdp(wanted: { readonly start: boolean }, options?: CallOptions): Promise<Duplex>;
}

export function browserOf(transport: Transport): GuestBrowser {
  const path = '/v1/browser';
  return {
    put: async (enabled, options) =>
      browserAvailableFrom(await transport.json('PUT', path, { enabled }, options, transport.longMs)),
    state: async (options) => browserStateFrom(await transport.json('GET', path, undefined, options)),
    async hold(seconds, options) {
      await transport.json('POST', `${path}/hold`, { seconds }, options);
    },
    openCdp: ({ start }, options = {}) => {
      const timeoutMs = start ? transport.longMs : 2 * transport.shortMs;
      return transport.upgrade(`${path}/cdp${start ? '?start=true' : ''}`, 'lodge-cdp', { timeoutMs, ...options });
    },
  };
}
