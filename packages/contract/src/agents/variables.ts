import { Type } from 'typebox';
import type { TUnsafe } from 'typebox';
import { maxVariableBytes, maxVariableName, maxVariables, variableNamePattern } from '@lodge/domain';
import { patterns } from '../text.ts';

const variables = {
  type: 'object',
  description:
    'Plain variables of the commands, terminals and tools in the agent’s machine, by name. The agent reads them: secrets belong in connections. Names that change how programs are found, loaded or trusted are refused.',
  maxProperties: maxVariables,
  propertyNames: { type: 'string', minLength: 1, maxLength: maxVariableName, pattern: variableNamePattern },
  additionalProperties: { type: 'string', maxLength: maxVariableBytes, pattern: patterns.text },
  examples: [{ TZ: 'Europe/Berlin' }],
} as const;

export const VariablesInput = Type.Unsafe<Record<string, string>>(variables) as TUnsafe<Record<string, string>> & {
  readonly type: 'object';
};

/** Variables as a record has them. */
export const Variables = Type.Unsafe<Record<string, string>>({
  type: 'object',
  description: 'Plain variables of the commands, terminals and tools in the agent’s machine, by name.',
  additionalProperties: { type: 'string' },
  examples: [{ TZ: 'Europe/Berlin' }],
});
