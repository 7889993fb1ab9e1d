import type { Skill } from '@lodge/sdk';
import { Badge, Code } from '../../components/badge.tsx';
import type { Tone } from '../../components/badge.tsx';

type Finding = Skill['findings'][number];

const tones: Readonly<Record<string, Tone>> = { high: 'bad', medium: 'warning' };

/** Findings of the review of a skill, the worst first. Their texts may be a stranger's. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <ul aria-label="Findings" className="divide-y divide-line rounded-control border border-line">
      {findings.map((finding) => (
        <li key={JSON.stringify(finding)} className="flex flex-col gap-1 px-3.5 py-2.5">
          <span className="flex flex-wrap items-center gap-2">
            <Badge tone={tones[finding.severity] ?? 'quiet'}>{finding.severity}</Badge>
            <Code>{finding.line === null ? finding.file : `${finding.file}:${finding.line}`}</Code>
          </span>
          <bdi className="wrap-anywhere text-muted">{finding.message}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** Returns the findings for which a skill was refused; undefined for any other failure. */
export const findingsOf = (details: Readonly<Record<string, unknown>>): readonly Finding[] | undefined =>
  Array.isArray(details['findings']) ? (details['findings'] as Finding[]) : undefined;
