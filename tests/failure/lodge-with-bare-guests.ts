/**
 * A Lodge of real parts whose agents are bare guests: killing VMs over and over costs seconds there, not minutes. Another
 * BARE_RELEASE is another image to its agents; with BARE_SICK their gateways never answer.
 */
import { runLodge } from '../../apps/server/src/run.ts';
import { createBareRuntime } from '@lodge/testkit/bare-runtime';

const { BARE_RELEASE: version = '1', BARE_SICK } = process.env;
const runtime = createBareRuntime({ version, sick: BARE_SICK !== undefined });
await runLodge(process.env, { runtimes: new Map([['runtime_a', runtime]]), variables: ['BARE_RELEASE', 'BARE_SICK'] });
