import { playRound } from './round.ts';
import { hermes } from './subjects.ts';

playRound(hermes);
