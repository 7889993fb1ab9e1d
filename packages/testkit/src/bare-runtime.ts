import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guestClient } from '@lodge/guest';
import type { AgentRuntime } from '@lodge/engine/ports';

/** A runtime with nothing in the guest but its daemon (the `base` image): for tests of the lifecycle, where it starts in seconds. */
export function createBareRuntime(): AgentRuntime {
  const alive = async (address: string, signal: AbortSignal): Promise<void> => {
    await guestClient(address).awaitHealth({ timeoutMs: 60_000, signal });
  };
  return {
    name: 'base',
    version: '1',
    templateVariant: 'bare-1',
    async startWarmupLlm(host) {
      const server = createServer((_, response) => response.end());
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      return {
        port: (server.address() as AddressInfo).port,
        close: () => new Promise((resolve) => server.close(() => resolve())),
      };
    },
    async prepareTemplate({ address }, progress, signal) {
      progress('waiting for the guest');
      await alive(address, signal);
      await guestClient(address).sync(true, { signal });
      return {};
    },
    resumeClone: ({ address }, _facts, _settings, signal) => alive(address, signal),
    awaitBoot: ({ address }, _facts, _settings, signal) => alive(address, signal),
    chatEndpoint: ({ address }) => ({
      chatCompletionsUrl: `http://${address}:18789/v1/chat/completions`,
      headers: {},
      model: 'none',
    }),
  };
}
