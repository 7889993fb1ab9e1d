import { PairsField } from '../../../components/form/pairs-field.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { formatNumber } from '../../../format.ts';
import { useMay } from '../../../session.ts';
import { bytesOf, maxInstructionBytes } from '../../create/draft.ts';
import { about, instructions } from './kinds.ts';
import type { Versioned } from './queries.ts';
import { SettingCard } from './setting-card.tsx';
import { useSetting } from './use-setting.ts';

export interface CardProps {
  readonly record: Versioned;
}

export function AboutCard({ record }: CardProps) {
  const setting = useSetting(record, about);
  const { values, set, problems } = setting;
  const readOnly = !useMay('agents:write');
  return (
    <SettingCard
      title="About"
      setting={setting}
      effect="live"
      labels={{ name: 'Name', description: 'Description', labels: 'Labels', metadata: 'Notes' }}
    >
      <TextField
        label="Name"
        maxLength={100}
        autoComplete="off"
        value={values.name}
        onChange={(event) => set({ name: event.target.value })}
        error={problems.name}
      />
      <TextField
        label="Description"
        optional
        maxLength={2000}
        autoComplete="off"
        value={values.description}
        onChange={(event) => set({ description: event.target.value })}
      />
      <PairsField
        legend="Labels"
        noun="label"
        hint="Short pairs to find agents by, such as team = support."
        maxValue={63}
        pairs={values.labels}
        readOnly={readOnly}
        change={(labels) => set({ labels })}
        error={problems.labels}
      />
      <PairsField
        legend="Notes"
        noun="note"
        hint="For your own programs (metadata). The agent does not see them."
        maxValue={500}
        pairs={values.metadata}
        readOnly={readOnly}
        change={(metadata) => set({ metadata })}
        error={problems.metadata}
      />
    </SettingCard>
  );
}

export function InstructionsCard({ record }: CardProps) {
  const setting = useSetting(record, instructions);
  const { values, set, problems } = setting;
  const bytes = bytesOf(values.instructions);
  return (
    <SettingCard
      title="Instructions"
      description="Who the agent is and how it works, in your words."
      setting={setting}
      effect="soon"
      pending={record.agent.settings_pending && 'Not in the machine yet'}
      labels={{ instructions: 'The text' }}
    >
      <TextAreaField
        label="Instructions"
        rows={6}
        value={values.instructions}
        onChange={(event) => set({ instructions: event.target.value })}
        hint={`${formatNumber(bytes)} of ${formatNumber(maxInstructionBytes)} bytes`}
        error={problems.instructions}
      />
    </SettingCard>
  );
}
