/**
 * The one suite of runtimes. A user's expectations of an agent hold for each runtime, with a real runtime in a real VM. One
 * agent lives through all cases of a file. Only the LLM provider is a stub, whose records show the agent's requests. Prints
 * a table of results at its end.
 */
import { after, before, beforeEach, describe } from 'node:test';
import { formOf } from '@lodge/testkit/forms';
import { apis } from './apis.ts';
import { attachments } from './attachments.ts';
import { channels } from './channels.ts';
import { commands } from './commands.ts';
import { connections } from './connections.ts';
import { dashboard } from './dashboard.ts';
import { hostTools } from './host-tools.ts';
import { imports } from './imports.ts';
import { inside } from './inside.ts';
import { life, returns } from './life.ts';
import { members } from './members.ts';
import { machinePrograms, ownersPackages } from './programs.ts';
import { others } from './others.ts';
import { providers } from './providers.ts';
import { schedules } from './schedules.ts';
import { Results } from './results.ts';
import { saved } from './saved.ts';
import { skills } from './skills.ts';
import type { Subject } from './subjects.ts';
import { talk } from './talk.ts';
import { webPages } from './web-pages.ts';
import { openWorld, templateTimeoutMs, Tested, type World } from './world.ts';

/** OpenClaw's turns after a change of its members are slow, so these cases come late. A boot from the disk comes last. */
// oxfmt-ignore
const cases = [
  talk, attachments, hostTools, commands, others, connections, apis, providers,
  inside, saved, machinePrograms, ownersPackages, skills, webPages, imports, dashboard, channels, schedules, life, members, returns,
];

/** The forks of the long form run beside their parent. */
const crowded = formOf({
  short: {},
  long: { LODGE_MAX_RUNNING: '1000', LODGE_MEMORY_OVERCOMMIT: '16', LODGE_MEMORY_RESERVED_MIB: '0' },
});

/** Declares the tests of a runtime. */
export function conform(subject: Subject): void {
  const results = new Results();
  let world: World;
  let tested: Tested;
  const agent = (): Tested => tested;

  before(
    async () => {
      world = await openWorld(subject, crowded);
      await world.service.awaitTemplate(templateTimeoutMs, subject.name);
    },
    { timeout: 2 * templateTimeoutMs },
  );

  after(async () => {
    console.log(results.table(subject));
    await world?.close();
  });

  beforeEach(() => world.llm.reset());

  describe(subject.name, { timeout: 180 * 60_000 }, () => {
    before(async () => {
      tested = await Tested.create(world, subject, `Tested ${subject.name}`);
    });
    for (const declare of cases) declare(results, subject, agent);
  });
}
