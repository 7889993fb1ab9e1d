/** A Lodge of real parts whose agents are bare guests: killing VMs over and over costs seconds there, not minutes. */
import { runLodge } from '../../apps/server/src/run.ts';
import { createBareRuntime } from '@lodge/testkit/bare-runtime';

await runLodge(process.env, { runtimes: new Map([['runtime_a', createBareRuntime()]]) });
