import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AgentSkill } from '@lodge/sdk';
import { BookOpen, Plus } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import type { Column } from '../../../components/data-table.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Failure } from '../../../components/notice.tsx';
import { TabPage } from '../../../components/page.tsx';
import { Card } from '../../../components/shown/cards.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { GiveDialog } from './give-dialog.tsx';
import { agentSkillsQuery, skillChanges } from './queries.ts';
import { memberWords, missingWords, shownState, versionWords } from './skill-words.ts';

type Open = { readonly kind: 'add' } | { readonly kind: 'change' | 'remove'; readonly skill: AgentSkill };

/** The skills of the library that the agent has, and how its machine has them. */
export function AgentSkillsPage() {
  const { id, name } = useAgent();
  const skills = useQuery(agentSkillsQuery(id));
  const mayChange = useMay('agents:write');
  const [open, setOpen] = useState<Open | null>(null);
  const turn = useTurn(id);
  const close = (): void => setOpen(null);
  const add = mayChange && (
    <Button variant="primary" onClick={() => setOpen({ kind: 'add' })}>
      <Plus aria-hidden className="size-4" />
      Give a skill
    </Button>
  );
  const acts = mayChange ? { open: setOpen, turn } : undefined;
  return (
    <TabPage
      width="wide"
      title="Skills"
      description="Skills of your library that the agent has. Its next turn has each change, in old conversations too."
      actions={(skills.data?.length ?? 0) > 0 && add}
    >
      <Failure error={turn.error} />
      <Card>
        <Loaded query={skills}>
          {(data) =>
            data.length === 0 ? (
              <EmptyState Icon={BookOpen} title="No skills yet" action={add}>
                Give {name.slice(0, 60)} a skill of your library: instructions and scripts for one task.
              </EmptyState>
            ) : (
              <DataTable label="Skills" columns={columnsOf(acts)} rows={data} keyOf={(skill) => skill.name} />
            )
          }
        </Loaded>
      </Card>
      {open?.kind === 'add' && <GiveDialog taken={skills.data ?? []} onClose={close} />}
      {open?.kind === 'change' && <GiveDialog skill={open.skill} taken={[]} onClose={close} />}
      {open?.kind === 'remove' && <RemoveDialog skill={open.skill} onClose={close} />}
    </TabPage>
  );
}

/** Enables and disables. */
function useTurn(agentId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, version, enabled, members }: AgentSkill) =>
      skillChanges(agentId).put(name, { version, members, enabled: !enabled }),
    onSuccess: ({ name, enabled }) => {
      toast(`${name} is ${enabled ? 'enabled' : 'disabled'}.`);
      return client.invalidateQueries(agentSkillsQuery(agentId));
    },
  });
}

interface Acts {
  readonly open: (what: Open) => void;
  readonly turn: ReturnType<typeof useTurn>;
}

const columnsOf = (acts: Acts | undefined): readonly Column<AgentSkill>[] => [
  { header: 'Name', cell: ({ name }) => <span className="wrap-anywhere">{name}</span> },
  { header: 'Version', cell: (skill) => <span className="tabular-nums">{versionWords(skill)}</span> },
  { header: 'For', cell: (skill) => <span className="wrap-anywhere">{memberWords(skill)}</span> },
  { header: 'State', cell: (skill) => <State skill={skill} /> },
  {
    header: 'Missing',
    cell: (skill) => {
      const words = missingWords(skill);
      if (words === null) return <span className="text-muted">Nothing</span>;
      return <span className="font-mono text-[0.8125rem] wrap-anywhere">{words}</span>;
    },
  },
  ...(acts === undefined
    ? []
    : [{ header: 'Actions', actions: true, cell: (skill: AgentSkill) => <Actions skill={skill} acts={acts} /> }]),
];

function State({ skill }: { readonly skill: AgentSkill }) {
  const { tone, label, why } = shownState(skill);
  return (
    <span className="flex min-w-0 flex-col items-start gap-1">
      <Badge tone={tone}>{label}</Badge>
      {why !== null && <span className="text-[0.8125rem] wrap-anywhere text-muted">{why}</span>}
    </span>
  );
}

function Actions({ skill, acts: { open, turn } }: { readonly skill: AgentSkill; readonly acts: Acts }) {
  const { name, enabled } = skill;
  const word = enabled ? 'Disable' : 'Enable';
  return (
    <span className="flex flex-wrap gap-1 md:justify-end">
      <Button
        small
        aria-label={`${word} ${name}`}
        pending={turn.isPending && turn.variables.name === name}
        onClick={() => turn.mutate(skill)}
      >
        {word}
      </Button>
      <Button small aria-label={`Change ${name}`} onClick={() => open({ kind: 'change', skill })}>
        Change
      </Button>
      <Button
        small
        variant="ghost-danger"
        aria-label={`Remove ${name}`}
        onClick={() => open({ kind: 'remove', skill })}
      >
        Remove
      </Button>
    </span>
  );
}

function RemoveDialog({
  skill: { agent_id: agentId, name },
  onClose,
}: {
  readonly skill: AgentSkill;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={`Remove “${name}” from the agent?`}
      action="Remove skill"
      run={() => skillChanges(agentId).remove(name)}
      onClose={onClose}
      onDone={() => {
        toast(`${name} is removed.`);
        void client.invalidateQueries(agentSkillsQuery(agentId));
      }}
    >
      The agent’s next turn does not have it. Your library keeps it.
    </ConfirmDialog>
  );
}
