/** Promises of every platform's adapter beyond the types of the port. */
import { describe, after, before } from 'node:test';
import type { Abilities, PlatformUnderTest } from './under-test.ts';
import { describeConfirmations } from './suite-confirmations.ts';
import { describeDelivery } from './suite-delivery.ts';
import { describeMessages } from './suite-messages.ts';
import { describePresses } from './suite-presses.ts';
import { describeProgress } from './suite-progress.ts';
import { describeSending } from './suite-sending.ts';
import { describeTrouble } from './suite-trouble.ts';
import type { SuiteContext } from './world.ts';

export function describePlatform(name: string, abilities: Abilities, start: () => Promise<PlatformUnderTest>): void {
  // Each wait has a bound of its own. All together take a minute on a busy host.
  describe(`${name} as a channel`, { timeout: 240_000 }, () => {
    let started: PlatformUnderTest | null = null;
    const context: SuiteContext = {
      abilities,
      get subject() {
        if (!started) throw new Error('the stub was not started');
        return started;
      },
    };
    before(async () => {
      started = await start();
    });
    after(() => started?.stop());

    describeMessages(context);
    describeDelivery(context);
    describeTrouble(context);
    describeSending(context);
    describeProgress(context);
    describePresses(context);
    describeConfirmations(context);
  });
}
