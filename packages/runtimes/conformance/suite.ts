/**
 * The one suite of runtimes: what a user may expect of an agent holds for each of them, with a real runtime in a real VM.
 * One agent lives through all cases; only the LLM provider is a stand-in, whose records show what the agent sends.
 * Prints a table of results at its end.
 *
 * `CONFORMANCE_UPGRADE` names the runtimes whose agent is moved in the end to a newer template, which is made for that:
 * about a minute without KVM for Hermes, which is the default, and six for OpenClaw.
 */
import { after, before, beforeEach, describe } from 'node:test';
import { apis } from './apis.ts';
import { dashboard } from './dashboard.ts';
import { inside } from './inside.ts';
import { life } from './life.ts';
import { members } from './members.ts';
import { providers } from './providers.ts';
import { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { talk } from './talk.ts';
import { openWorld, templateTimeoutMs, Tested, type World } from './world.ts';

/** Declares the tests of a runtime. Each has a file of its own, so that they run side by side. */
export function conform(subject: Subject): void {
  const results = new Results();
  let world: World;
  let tested: Tested;
  const agent = (): Tested => tested;

  before(
    async () => {
      world = await openWorld(subject);
      await world.service.awaitTemplate(templateTimeoutMs, subject.name);
    },
    { timeout: 2 * templateTimeoutMs },
  );

  after(async () => {
    console.log(results.table(subject));
    await world?.close();
  });

  beforeEach(() => world.llm.reset());

  describe(subject.name, { timeout: 60 * 60_000 }, () => {
    before(async () => {
      tested = await Tested.create(world, subject, `Tested ${subject.name}`);
    });
    talk(results, subject, agent);
    apis(results, subject, agent);
    providers(results, subject, agent);
    members(results, subject, agent);
    inside(results, subject, agent);
    dashboard(results, subject, agent);
    life(results, subject, agent);
  });
}
