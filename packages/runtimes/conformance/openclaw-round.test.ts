import { playRound } from './round.ts';
import { openclaw } from './subjects.ts';

playRound(openclaw);
