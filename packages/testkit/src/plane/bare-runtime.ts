import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guestClient, GuestError } from '@lodge/guest';
import type { AgentRuntime, GuestAddress } from '@lodge/ports';

const logChunkBytes = 256 * 1024;

export interface BareRelease {
  /** Each has a template of its own. */
  readonly version: string;
  /** Its gateway never answers, in no guest. */
  readonly sick: boolean;
}

/** Belongs to the template and says of which release that is. */
export const releaseFile = '/workspace/.release';

/** A runtime with nothing in the guest but its daemon (the `base` image): for tests of the lifecycle, where it starts in seconds. */
export function createBareRuntime({ version, sick }: BareRelease = { version: '1', sick: false }): AgentRuntime {
  const alive = async (guest: GuestAddress, signal: AbortSignal): Promise<void> => {
    await guestClient(guest).awaitHealth({ timeoutMs: 120_000, signal });
  };
  return {
    name: 'base',
    version,
    source: { registry: 'npm', package: 'bare' },
    templateVariant: `bare-release-${version}`,
    data: { folders: ['/home/agent', '/workspace'], except: [releaseFile] },
    gatewayPort: 18789,
    async startWarmupLlm(host) {
      const server = createServer((_, response) => response.end());
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      return {
        port: (server.address() as AddressInfo).port,
        close: () => new Promise((resolve) => server.close(() => resolve())),
      };
    },
    async prepareTemplate(guest, progress, signal) {
      progress('waiting for the guest');
      await alive(guest, signal);
      await guestClient(guest).writeFile(releaseFile, version, { mode: 0o644, owner: 'root' }, { signal });
      await guestClient(guest).sync(true, { signal });
      return {};
    },
    resume: (guest, _facts, _settings, signal) => alive(guest, signal),
    async quiesce(guest, facts, signal) {
      await guestClient(guest).sync(true, { signal });
      return facts;
    },
    flush: (guest, signal) => guestClient(guest).sync(false, { signal }),
    forget: async () => undefined,
    async shutdown(guest, _facts, signal) {
      await guestClient(guest)
        .sync(false, { timeoutMs: 20_000, signal })
        .catch((error: unknown) => {
          if (!(error instanceof GuestError)) throw error;
        });
    },
    async health(guest, _facts, signal) {
      try {
        const { oomKills, diskFreeMib } = await guestClient(guest).health({ signal });
        return { gateway: sick ? 'told to be sick' : null, oomKills, diskFreeMib };
      } catch (error) {
        if (!(error instanceof GuestError)) throw error;
        return { gateway: error.message, oomKills: null, diskFreeMib: null };
      }
    },
    async readLog(guest, offset, signal) {
      const { text, nextOffset } = await guestClient(guest).logs('runtime', offset, logChunkBytes, { signal });
      const lines = text.split('\n').filter((line) => line !== '');
      return { lines: lines.map((message) => ({ at: null, level: 'info', message })), nextOffset };
    },
    awaitBoot: (guest, _facts, _settings, signal) => alive(guest, signal),
    inGuest: () => null,
    apply: () => Promise.resolve(),
    skills: { place: async () => undefined, look: async () => [] },
    chatEndpoint: ({ dial }) => ({
      dial,
      baseUrl: 'http://guest:18789/v1',
      headers: {},
      model: 'none',
      takesPictures: false,
    }),
    turnFailure: () => ({ kind: 'turn_failed' }),
    web: (_guest, _facts, _settings, page) => (page === 'gateway' ? { port: 18789, headers: {} } : null),
  };
}
