import { walkProviders } from './walk.js';

walkProviders(0, 4);
