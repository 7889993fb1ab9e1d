import { useQuery } from '@tanstack/react-query';
import { CheckField } from '../../../components/form/check-field.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { SelectField, TextField } from '../../../components/form/field.tsx';
import { machineWords, runtimeNames, sizeNames } from '../../../components/words/agent-words.ts';
import { Notice } from '../../../components/notice.tsx';
import { Loaded } from '../../../components/states.tsx';
import { actionWords } from '../../usage/limit-words.ts';
import { sizesQuery } from '../../create/queries.ts';
import type { CardProps } from './about-cards.tsx';
import { dashboard, limit, size, sleep } from './kinds.ts';
import { SettingCard } from './setting-card.tsx';
import { useSetting } from './use-setting.ts';

export function SizeCard({ record }: CardProps) {
  const { agent } = record;
  const setting = useSetting(record, size);
  const sizes = useQuery(sizesQuery);
  const wanted = sizes.data?.find(({ id }) => id === agent.size);
  const isOther =
    wanted !== undefined && (wanted.vcpus !== agent.machine.vcpus || wanted.memory_mb !== agent.machine.memory_mb);
  return (
    <SettingCard
      title="Machine"
      description="What the agent’s computer takes of this host while it runs or sleeps."
      setting={setting}
      effect="size"
      pending={isOther && 'At its next start'}
      labels={{ size: 'The size' }}
    >
      <Loaded query={sizes}>
        {(all) => (
          <ChoiceField
            legend="Size"
            name="size"
            value={setting.values.size}
            onChoose={(chosen) => setting.set({ size: chosen })}
            choices={all.map((each) => ({ value: each.id, label: sizeNames[each.id], meaning: machineWords(each) }))}
          />
        )}
      </Loaded>
      {isOther && (
        <Notice kind="info">
          Until its next start the machine has {machineWords(agent.machine)}. A restart gives it its size.
        </Notice>
      )}
    </SettingCard>
  );
}

export function SleepCard({ record }: CardProps) {
  const setting = useSetting(record, sleep);
  const { values, set, problems } = setting;
  const time = (name: 'idle' | 'stop', label: string, hint: string) => (
    <TextField
      label={label}
      inputMode="decimal"
      autoComplete="off"
      maxLength={9}
      value={values[name]}
      onChange={(event) => set({ [name]: event.target.value })}
      hint={hint}
      error={problems[name]}
      disabled={values.always}
      className="disabled:opacity-60"
    />
  );
  const check = (name: 'always' | 'resume' | 'start' | 'wake', label: string, hint: string) => (
    <CheckField
      label={label}
      hint={hint}
      checked={values[name]}
      onChange={(event) => set({ [name]: event.target.checked })}
    />
  );
  return (
    <SettingCard
      title="Sleep"
      description="An idle agent sleeps, so that the host has room for others. Nothing of it is lost."
      setting={setting}
      effect="live"
      labels={{
        idle: 'Minutes until it sleeps',
        stop: 'Minutes until it stops',
        always: 'Always awake',
        resume: 'Requests wake it',
        start: 'Requests start it',
        wake: 'Messages wake it',
      }}
    >
      {check('always', 'Always awake', 'It never sleeps by itself, and its memory is never free for others.')}
      <div className="grid gap-4 sm:grid-cols-2">
        {time('idle', 'Sleeps after', 'Minutes without work; 0 is never.')}
        {time('stop', 'Stops after', 'Minutes of sleep. Then its memory is saved to disk.')}
      </div>
      {check('resume', 'A request wakes it', 'When it sleeps.')}
      {check('start', 'A request starts it', 'When it is stopped: the answer takes a little longer.')}
      {check('wake', 'A message wakes it', 'One on a channel, while it sleeps or is stopped.')}
    </SettingCard>
  );
}

export function LimitCard({ record }: CardProps) {
  const setting = useSetting(record, limit);
  const { values, set, problems } = setting;
  const amount = (name: 'daily' | 'monthly', label: string) => (
    <TextField
      label={label}
      optional
      inputMode="decimal"
      autoComplete="off"
      maxLength={16}
      hint="In US dollars."
      value={values[name]}
      onChange={(event) => set({ [name]: event.target.value })}
      error={problems[name]}
    />
  );
  return (
    <SettingCard
      title="Spend limit"
      description="The most that its model calls may cost, in days and months of UTC. With both empty, what this Lodge is configured with holds."
      setting={setting}
      effect="live"
      labels={{ daily: 'Per day', monthly: 'Per month', action: 'Once a limit is reached' }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {amount('daily', 'Per day')}
        {amount('monthly', 'Per month')}
      </div>
      <SelectField
        label="Once a limit is reached"
        value={values.action}
        onChange={(event) => set({ action: event.target.value === 'pause' ? 'pause' : 'block' })}
      >
        {Object.entries(actionWords).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
    </SettingCard>
  );
}

export function DashboardCard({ record }: CardProps) {
  const setting = useSetting(record, dashboard);
  return (
    <SettingCard
      title={`Dashboard of ${runtimeNames[record.agent.runtime_kind]}`}
      setting={setting}
      effect="soon"
      pending={record.agent.settings_pending && 'Not in the machine yet'}
      labels={{ dashboard: 'Its own pages' }}
    >
      <CheckField
        label="Serve its own pages"
        hint="The page Ports opens them in the browser."
        checked={setting.values.dashboard}
        onChange={(event) => setting.set({ dashboard: event.target.checked })}
      />
    </SettingCard>
  );
}
