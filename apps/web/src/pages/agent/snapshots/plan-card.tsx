import { useQuery } from '@tanstack/react-query';
import { TextField } from '../../../components/form/field.tsx';
import { Card } from '../../../components/shown/cards.tsx';
import { Loaded } from '../../../components/states.tsx';
import { SettingCard } from '../settings/setting-card.tsx';
import { settingsQuery } from '../settings/queries.ts';
import type { Versioned } from '../settings/queries.ts';
import { useSetting } from '../settings/use-setting.ts';
import { plan } from './plan.ts';

/** When snapshots are made by themselves, and how long those are kept. */
export function PlanCard({ agentId }: { readonly agentId: string }) {
  const record = useQuery(settingsQuery(agentId));
  if (record.data !== undefined) return <PlanForm key={agentId} record={record.data} />;
  return (
    <Card>
      <Loaded query={record}>{() => null}</Loaded>
    </Card>
  );
}

function PlanForm({ record }: { readonly record: Versioned }) {
  const setting = useSetting(record, plan);
  const { values, set, problems } = setting;
  const field = (name: keyof typeof values, label: string, hint: string, optional = false) => (
    <TextField
      label={label}
      hint={hint}
      optional={optional}
      inputMode={name === 'time' ? 'text' : 'numeric'}
      autoComplete="off"
      autoCapitalize="none"
      maxLength={8}
      value={values[name]}
      onChange={(event) => set({ [name]: event.target.value })}
      error={problems[name]}
    />
  );
  return (
    <SettingCard
      title="Automatic snapshots"
      description="Made by themselves once the agent is quiet and had a turn since the last one, so an idle agent makes none. With both of the first fields empty there are none."
      setting={setting}
      effect="live"
      labels={{ turns: 'Turns', time: 'Time', keep: 'Most that are kept', days: 'Days' }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {field('turns', 'After so many turns', 'With 1 each turn can be undone.', true)}
        {field('time', 'After so much time', 'Since the last one: 30m, 6h, 1d.', true)}
        {field('keep', 'Kept at most', 'The oldest automatic ones go first, and those alone.')}
        {field('days', 'Kept for days', 'A pinned one stays.')}
      </div>
    </SettingCard>
  );
}
