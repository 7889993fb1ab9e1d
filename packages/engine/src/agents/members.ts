import { checkHasMembers } from '@lodge/domain';
import type { AgentMember, ChangeNote } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { Transaction } from '@lodge/store/database';
import { forgetSkillMembers } from '@lodge/store/skills';
import { renewWanted } from '../agent-skills/wanted.ts';
import { changeAgent } from './decisions.ts';

import type { AgentsDeps } from './deps.ts';
import { chosenModel } from './model-choice.ts';
import { getAgent, isThere, notFound } from './reading.ts';
import { nothingPlaced } from './settings.ts';

/** Changes an agent's members in its record; the reconcile loop brings them into effect in the machine. */
export async function changeMembers(
  deps: AgentsDeps,
  accountId: string,
  id: string,
  decide: (members: readonly AgentMember[]) => readonly AgentMember[],
  note?: ChangeNote,
): Promise<AgentRow> {
  await getAgent(deps, accountId, id);
  const changed = await changeAgent(
    deps.database,
    accountId,
    id,
    (row) => {
      if (!isThere(row)) throw notFound(id);
      checkHasMembers(row.runtimeKind);
      const members = decide(row.members);
      for (const { name, model } of members) {
        const before = row.members.find((member) => member.name === name);
        // The operator may have removed a provider since; other members can be changed all the same.
        if (model !== null && model !== before?.model) chosenModel(deps, row.runtimeKind, model, []);
      }
      return { members };
    },
    note,
    forgetMembers,
  );
  if (!isThere(changed)) throw notFound(id);
  return changed;
}

/** A skill is for no member that is gone, nor for a later one of its name. */
async function forgetMembers(trx: Transaction, before: AgentRow, after: AgentRow): Promise<void> {
  const gone = before.members.filter(({ name }) => !after.members.some((member) => member.name === name));
  if (gone.length === 0 || before.skillsWanted === nothingPlaced) return;
  const names = gone.map(({ name }) => name);
  if (await forgetSkillMembers(trx, before.id, names)) await renewWanted(trx, [before.id]);
}
