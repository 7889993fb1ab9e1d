import { checkHasMembers } from '@lodge/domain';
import type { AgentMember, ChangeNote } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { changeAgent } from './decisions.ts';

import type { AgentsDeps } from './deps.ts';
import { chosenModel } from './model-choice.ts';
import { getAgent, isThere, notFound } from './reading.ts';

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
  );
  if (!isThere(changed)) throw notFound(id);
  return changed;
}
