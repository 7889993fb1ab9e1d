/**
 * `place-skills`: brings the wanted skills into the running guest, and records how its runtime sees them. The row says from
 * the first line until the last that nobody knows what the guest has. So after a kill the next pass does all of it again, which
 * changes nothing.
 */
import { skillContents, skillsOfAgents, writeSeenSkills } from '@lodge/store/skills';
import type { SeenSkill } from '@lodge/store/skills';
import { seenSkills, wantedOf } from '../../agent-skills/wanted.ts';
import { skillsDigest } from '../../agents/settings.ts';
import type { FailedApplies } from './apply.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';

export async function placeSkills(pass: Pass, failed: FailedApplies): Promise<void> {
  const { agent, id, deps } = pass;
  // Nobody talks to the agent while its guest is at work, so without the lease idleness would freeze it halfway.
  if ((await deps.keepAwake.take(id)) === null) return;
  try {
    if (agent.skillsApplied !== null) await pass.observe({ skillsApplied: null });
    const { digest, seen } = await place(pass);
    failed.forget(id);
    const { duration_ms } = pass.took;
    const notLoaded = seen.filter(({ state }) => state === 'not_loaded').map(({ name }) => name);
    const data = { duration_ms, skills: seen.length - notLoaded.length, not_loaded: notLoaded };
    await pass.observe({ skillsApplied: digest, skillsError: null, event: { type: 'agent.skills_loaded', data } });
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    await pass.checkStillThere(error);
    pass.logToOperator('warn', 'skills not in the machine; it will be tried again', { err: error.cause });
    if (failed.add(agent, skillsDigest(agent)) > 1) return;
    const message = error.timedOut ? 'The machine did not take them in time.' : 'The machine did not take them.';
    await pass.observe({ skillsError: message, event: { type: 'agent.skills_failed', data: { message } } });
  } finally {
    deps.keepAwake.drop(id);
  }
}

interface Placed {
  readonly digest: string;
  readonly seen: readonly SeenSkill[];
}

async function place(pass: Pass): Promise<Placed> {
  const { agent, id, guest, deps, runtime } = pass;
  const { database, bounds } = deps;
  const template = await pass.template();
  if (!template) throw new StepFailed(new Error('the template its disk was made from is gone'), false);
  const rows = await database.repeatable((db) => skillsOfAgents(db, [id]));
  const { set, versions, ...wanted } = wantedOf(agent, rows);
  const read = ({ name }: { readonly name: string }) =>
    database.repeatable((db) => skillContents(db, versions.get(name)!));
  const sights = await pass.within(bounds.placeSkillsMs, async (signal) => {
    await runtime.skills.place(guest, template.facts, wanted, read, signal);
    return wanted.skills.length === 0 ? [] : runtime.skills.look(guest, template.facts, wanted, signal);
  });
  const seen = seenSkills(rows, sights);
  await database.transaction((trx) => writeSeenSkills(trx, id, set, seen));
  return { digest: wanted.digest, seen };
}
