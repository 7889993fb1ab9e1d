import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Agent } from '@lodge/sdk';
import { Command } from 'cmdk';
import { Bot, Plus, SunMoon } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { list, lodge } from '../../api.ts';
import { useModal } from '../../components/dialogs/dialog.tsx';
import { Reason } from '../../components/notice.tsx';
import { agentQuery } from '../../pages/agent/queries.ts';
import { useAct, verbIcons } from '../../pages/agent/use-act.ts';
import { verbsOf, verbWords } from '../../pages/agent/verbs.ts';
import { pathTo } from '../../paths.ts';
import { useAccount, useMay } from '../../session.ts';
import { chooseTheme, themes } from '../../theme.ts';
import { useGroups, useOpenAgent } from '../navigation.ts';

/** Agents that the palette finds; the list of agents finds all. */
const mostAgents = 100;

/** Finds a page, an agent or an action by a few letters. */
export function PaletteDialog({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useModal(ref);
  // The dialog would focus the list's frame, which comes first.
  useEffect(() => ref.current?.querySelector('input')?.focus(), []);
  return (
    <dialog
      ref={ref}
      aria-label="Find a page, an agent or an action"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
      className="mx-auto mt-[12vh] mb-auto w-[calc(100vw-2rem)] max-w-xl animate-rise overflow-hidden rounded-card border border-line bg-raised p-0 text-ink shadow-float backdrop:bg-backdrop"
    >
      <Command label="Find" loop filter={fits}>
        <Command.Input
          placeholder="Find a page, an agent or an action"
          className="h-12 w-full border-b border-line bg-transparent px-4 text-base text-ink outline-none placeholder:text-muted"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto p-2" tabIndex={-1}>
          <Command.Empty className="px-3 py-6 text-center text-muted">Nothing has this name.</Command.Empty>
          <Choices onClose={onClose} />
        </Command.List>
      </Command>
    </dialog>
  );
}

/** Every word must be in the name; a name that begins so comes first. Letters that are only somewhere in it find too much. */
function fits(value: string, search: string): number {
  const name = value.toLowerCase();
  const asked = search.trim().toLowerCase();
  if (!asked.split(/\s+/).every((word) => name.includes(word))) return 0;
  return name.startsWith(asked) ? 1 : 0.5;
}

function Choices({ onClose }: { onClose: () => void }) {
  const { role } = useAccount();
  const agentId = useOpenAgent();
  const mayChange = useMay('agents:write');
  const go = useGo(onClose);
  const account = useGroups('account', role).flatMap(({ destinations }) => destinations);
  const below = useGroups('agent', role).flatMap(({ destinations }) => destinations);
  return (
    <>
      {agentId !== undefined && <OpenAgentChoices agentId={agentId} onClose={onClose} />}
      {agentId !== undefined && (
        <Group heading="This agent">
          {below.map(({ to, label, Icon }) => (
            <Item key={to} Icon={Icon} value={`this agent ${label}`} onSelect={() => go(to, agentId)}>
              {label}
            </Item>
          ))}
        </Group>
      )}
      <Group heading="Pages">
        {mayChange && (
          <Item Icon={Plus} value="create an agent new" onSelect={() => go('/agents/new')}>
            Create an agent
          </Item>
        )}
        {account.map(({ to, label, Icon }) => (
          <Item key={to} Icon={Icon} value={label} onSelect={() => go(to)}>
            {label}
          </Item>
        ))}
      </Group>
      <Agents open={(id) => go('/agents/$agentId', id)} />
      <Group heading="Theme">
        {themes.map((theme) => (
          <Item
            key={theme}
            Icon={SunMoon}
            value={`theme ${theme}`}
            onSelect={() => {
              chooseTheme(theme);
              onClose();
            }}
          >
            {`Theme: ${theme}`}
          </Item>
        ))}
      </Group>
    </>
  );
}

function Agents({ open }: { open: (id: string) => void }) {
  const agents = useQuery({
    queryKey: ['agents', 'palette'],
    queryFn: () => list(lodge.agents.list({ limit: mostAgents })),
  });
  if (agents.data === undefined || agents.data.length === 0) return null;
  return (
    <Group heading="Agents">
      {agents.data.map(({ id, name }) => (
        <Item key={id} Icon={Bot} value={`${name} ${id}`} onSelect={() => open(id)}>
          <bdi className="truncate">{name}</bdi>
        </Item>
      ))}
    </Group>
  );
}

function OpenAgentChoices({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const { data: agent } = useQuery(agentQuery(agentId));
  const mayChange = useMay('agents:write');
  if (agent === undefined || !mayChange || verbsOf(agent).length === 0) return null;
  return <Verbs agent={agent} onClose={onClose} />;
}

function Verbs({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const act = useAct(agent);
  return (
    <Group heading={agent.name}>
      {act.error !== null && (
        <p className="px-3 py-1.5 text-danger">
          <Reason error={act.error} />
        </p>
      )}
      {verbsOf(agent).map((verb) => {
        const { label } = verbWords[verb];
        const isUnderWay = act.isPending && act.variables === verb;
        const run = (): void => act.mutate(verb, { onSuccess: onClose });
        return (
          <Item key={verb} Icon={verbIcons[verb]} value={`${label} ${agent.name}`} onSelect={run}>
            {isUnderWay ? `${label}…` : label}
          </Item>
        );
      })}
    </Group>
  );
}

function useGo(onClose: () => void): (to: string, agentId?: string) => void {
  const navigate = useNavigate();
  return (to, agentId) => {
    onClose();
    void navigate({ to: pathTo(to, agentId) });
  };
}

const headingLook =
  '[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted';

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group heading={heading} className={headingLook}>
      {children}
    </Command.Group>
  );
}

interface ItemProps {
  readonly Icon: LucideIcon;
  readonly value: string;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

function Item({ Icon, value, onSelect, children }: ItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-9 cursor-pointer items-center gap-2.5 rounded-control px-3 data-[selected=true]:bg-hover"
    >
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      {children}
    </Command.Item>
  );
}
