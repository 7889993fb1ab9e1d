import type { Agent } from '@lodge/sdk';
import { LoaderCircle } from 'lucide-react';
import { Badge } from '../../components/badge.tsx';
import { statusOf } from './status.ts';

export function StatusBadge({ agent }: { agent: Pick<Agent, 'status' | 'transition'> }) {
  const { label, tone, moving } = statusOf(agent);
  return (
    <Badge tone={tone}>
      {moving && <LoaderCircle aria-hidden className="mr-1 size-3 animate-spin" />}
      {label}
    </Badge>
  );
}
