import { LlmCall } from '@lodge/contract';
import type { LlmCallRow } from '@lodge/ports';
import { toWire } from '../../reply/to-wire.ts';

export const callRecord = (row: LlmCallRow): LlmCall => toWire(LlmCall, { ...row, cost: row.costUsd });
