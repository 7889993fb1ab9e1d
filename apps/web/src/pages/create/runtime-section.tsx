import { ChoiceField } from '../../components/form/choice-field.tsx';
import { FormCard } from '../../components/shown/cards.tsx';
import { TemplateNotice } from '../home/template-notice.tsx';
import type { SectionProps } from './draft.ts';

/** The runtimes, explained. */
export function RuntimeSection({ draft, set }: SectionProps) {
  return (
    <FormCard
      title="Runtime"
      description="The software that thinks and acts in the agent’s machine. It stays for the agent’s life."
    >
      <ChoiceField
        legend="Software"
        name="runtime"
        value={draft.runtime}
        onChoose={(runtime) => set({ runtime })}
        choices={[
          {
            value: 'runtime_a',
            label: 'OpenClaw',
            meaning:
              'A personal assistant that works with tools and files. One machine can hold several members, each with a role of its own.',
          },
          {
            value: 'runtime_b',
            label: 'Hermes',
            meaning: 'A single agent that learns skills as it works, with a dashboard of its own in the browser.',
          },
        ]}
      />
      <TemplateNotice />
    </FormCard>
  );
}
