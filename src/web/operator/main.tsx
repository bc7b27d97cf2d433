// The entry point of the operator console in the browser.

import '../ui/css/styles.css';
import { startApp } from '../ui/app.tsx';
import { PAGES } from './pages.tsx';

startApp(PAGES);
