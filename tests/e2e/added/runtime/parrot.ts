/** The smallest runtime of the tests under another name. Its gateway is on loopback, at a port that is known later. */
import type { AgentRuntime } from '@lodge/ports';
import { createToyRuntime } from '../../../../packages/testkit/src/plane/toy-runtime/toy-runtime.ts';

export const gateway = { port: 1 };

export const createParrot = (): AgentRuntime => ({
  ...createToyRuntime(gateway.port),
  name: 'parrot',
  source: { registry: 'npm', package: 'parrot' },
});
