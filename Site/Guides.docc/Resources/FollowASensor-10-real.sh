HARALD_CONTROLLER=hci0 swift run heart
