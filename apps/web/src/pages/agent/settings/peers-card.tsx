import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { IconButton } from '../../../components/button.tsx';
import { SelectField } from '../../../components/form/field.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { useMay } from '../../../session.ts';
import { allAgents } from '../../agents/queries.ts';
import type { CardProps } from './about-cards.tsx';
import { peers } from './kinds.ts';
import { SettingCard } from './setting-card.tsx';
import { useSetting } from './use-setting.ts';

/** The other agents that this one may ask. */
export function PeersCard({ record }: CardProps) {
  const setting = useSetting(record, peers);
  const { values, set, problems } = setting;
  return (
    <SettingCard
      title="Peers"
      description="Other agents of this account that it may ask questions, with its tool ask_agent. It pays for their answers."
      setting={setting}
      effect="live"
      labels={{ who: 'Who', ids: 'The list' }}
    >
      <ChoiceField
        legend="It may ask"
        name="peers"
        value={values.who}
        onChoose={(who) => set({ who })}
        choices={[
          { value: 'none', label: 'Nobody' },
          { value: 'all', label: 'All agents', meaning: 'Those to come as well.' },
          { value: 'some', label: 'Only these' },
        ]}
      />
      {values.who === 'some' && (
        <Picker own={record.agent.id} ids={values.ids} change={(ids) => set({ ids })} error={problems.ids} />
      )}
    </SettingCard>
  );
}

interface PickerProps {
  readonly own: string;
  readonly ids: readonly string[];
  readonly change: (ids: readonly string[]) => void;
  readonly error: string | undefined;
}

function Picker({ own, ids, change, error }: PickerProps) {
  const mayWrite = useMay('agents:write');
  const agents = useQuery(allAgents);
  const names = new Map(agents.data?.agents.map(({ id, name }) => [id, name]));
  const others = agents.data?.agents.filter(({ id }) => id !== own && !ids.includes(id)) ?? [];
  return (
    <>
      {ids.length > 0 && (
        <ul aria-label="Agents that it may ask" className="divide-y divide-line rounded-control border border-line">
          {ids.map((id) => (
            <li key={id} className="flex items-center gap-3 py-1 pr-1 pl-3.5">
              <span className="min-w-0 grow truncate">{names.get(id) ?? 'An agent that is gone'}</span>
              <span className="font-mono text-xs text-muted">{id}</span>
              {mayWrite && (
                <IconButton
                  label={`Remove ${names.get(id) ?? id}`}
                  onClick={() => change(ids.filter((each) => each !== id))}
                  className="size-8"
                >
                  <X aria-hidden className="size-4" />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayWrite && (
        <SelectField
          label="Add an agent"
          value=""
          onChange={({ target: { value } }) => {
            if (value !== '') change([...ids, value]);
          }}
          hint={agents.isPending ? 'Your agents are being loaded.' : undefined}
          error={error}
        >
          <option value="">Choose an agent</option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {`${name} (${id})`}
            </option>
          ))}
        </SelectField>
      )}
    </>
  );
}
