import type { Agent } from '@lodge/sdk';
import { packageManagers } from '@lodge/contract/words';
import { Badge } from '../../../components/badge.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { Notice } from '../../../components/notice.tsx';
import { useMay } from '../../../session.ts';
import type { CardProps } from './about-cards.tsx';
import { packages } from './kinds.ts';
import { SettingCard } from './setting-card.tsx';
import { useSetting } from './use-setting.ts';

const labels = { apt: 'Debian packages', pip: 'Python packages', npm: 'npm packages' } as const;
const examples = { apt: 'ffmpeg\njq=1.6-2.1', pip: 'httpie\npandas==2.3.1', npm: 'yarn\nprettier@3' } as const;

/** Packages that root installs in the machine, and whether they are there. */
export function PackagesCard({ record }: CardProps) {
  const setting = useSetting(record, packages);
  const { values, set, problems } = setting;
  const readOnly = !useMay('agents:write');
  return (
    <SettingCard
      title="Packages"
      description="Further programs of the agent’s machine. What is no longer in a list is removed."
      setting={setting}
      effect="packages"
      labels={labels}
    >
      <State agent={record.agent} />
      {packageManagers.map((manager) => (
        <TextAreaField
          key={manager}
          code
          rows={2}
          readOnly={readOnly}
          maxLength={20_000}
          autoCapitalize="none"
          label={labels[manager]}
          placeholder={examples[manager]}
          value={values[manager]}
          onChange={(event) => set({ [manager]: event.target.value })}
          hint="One on each line, with or without a version."
          error={problems[manager]}
        />
      ))}
    </SettingCard>
  );
}

function State({ agent }: { readonly agent: Agent }) {
  if (agent.packages_error !== null) {
    return (
      <Notice kind="error">
        <p className="wrap-anywhere">{agent.packages_error}</p>
        <p className="text-muted">
          It is tried again, and at once after a change. The logs have what the tool said last.
        </p>
      </Notice>
    );
  }
  if (packageManagers.every((manager) => agent.packages[manager].length === 0)) return null;
  const [tone, words] = !agent.settings_pending
    ? (['good', 'Installed'] as const)
    : (['quiet', agent.status === 'running' ? 'Being installed' : 'Installed at its next start'] as const);
  return (
    <p className="flex">
      <Badge tone={tone}>{words}</Badge>
    </p>
  );
}
