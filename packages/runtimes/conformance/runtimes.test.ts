/**
 * The one suite of runtimes: what a user may expect of an agent holds for each of them, with a real runtime in a real VM.
 * One agent of each lives through all cases; only the LLM provider is a stand-in, whose records show what the agent sends.
 * Prints a table of results at its end.
 *
 * `CONFORMANCE_RUNTIMES` names the runtimes, `openclaw,hermes` for both; `CONFORMANCE_UPGRADE` those of them that are moved in the
 * end to a newer template, which is made for that. By default both are Hermes: an OpenClaw that boots its disk takes minutes
 * without KVM, and tests/e2e has one that does (agent, lifecycle).
 */
import { after, before, beforeEach, describe } from 'node:test';
import { apis } from './apis.ts';
import { dashboard } from './dashboard.ts';
import { inside } from './inside.ts';
import { life } from './life.ts';
import { members } from './members.ts';
import { providers } from './providers.ts';
import { Results } from './results.ts';
import { subjects as all } from './subjects.ts';
import { talk } from './talk.ts';
import { openWorld, templateTimeoutMs, Tested, type World } from './world.ts';

const wanted = (process.env['CONFORMANCE_RUNTIMES'] ?? 'hermes').split(',');
const subjects = all.filter(({ name }) => wanted.includes(name));
const results = new Results();
let world: World;

before(
  async () => {
    world = await openWorld();
    for (const { name } of subjects) await world.service.awaitTemplate(templateTimeoutMs, name);
  },
  { timeout: 2 * templateTimeoutMs },
);

after(async () => {
  console.log(results.table(subjects));
  await world?.close();
});

beforeEach(() => world.llm.reset());

for (const subject of subjects) {
  describe(subject.name, { timeout: 60 * 60_000 }, () => {
    let tested: Tested;
    const agent = (): Tested => tested;
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
